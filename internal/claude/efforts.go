package claude

// Efforts are the values of claude's --effort. A model without the level takes the next lower one.
var Efforts = []string{"low", "medium", "high", "xhigh", "max"}
