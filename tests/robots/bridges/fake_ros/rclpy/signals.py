class SignalHandlerOptions:
    ALL = "ALL"
    NO = "NO"
