"""Hand a released bundle to a consumer, in the folder layout that it expects: one file a target."""
