"""The one exception that means: the user can mend this."""


class InputError(ValueError):
    """Bad input, said in one sentence that names the place and the fix.

    Pages show the message, the command line prints it and exits with 2. Every
    other exception is a defect of ours and is not caught.
    """
