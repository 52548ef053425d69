"""What commands show: values in, rich renderables out."""
