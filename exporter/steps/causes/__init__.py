"""What commonly makes two chains differ, one file each: each tries changes of the deployment chain."""
