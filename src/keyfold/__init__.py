"""keyfold: your DynamoDB design document, running."""
