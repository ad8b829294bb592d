class LoadError(Exception):
    def __str__(self):
        raise SystemExit('asked')


def load(table):
    try:
        return table['disk']
    except KeyError as missing:
        raise LoadError('cannot load') from missing


load({})
