"""Other people's price catalogues, read into price lists."""
