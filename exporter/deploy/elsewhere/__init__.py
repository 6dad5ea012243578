"""Numbers from elsewhere: a kit that leaves the house, and the answers that come back from machines we never own."""
