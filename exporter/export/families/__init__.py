"""Models of PaddleClas, PaddleOCR, PaddleSeg and PaddleDetection, by a configuration of theirs and their own export."""
