"""Reading the pickles that `paddle.save` writes, without unpickling: nothing is imported and nothing is called."""
