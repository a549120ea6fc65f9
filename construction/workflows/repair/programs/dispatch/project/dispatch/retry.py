"""When a failed job is tried again."""


class Permanent(Exception):
    """Trying again cannot help."""


def delay(queue, attempts):
    """Seconds after the attempt of that number, from 1: doubled each time up to the longest."""
    return min(queue.first_delay * 2 ** (attempts - 1), queue.longest_delay)


def retry_at(queue, job, error, now):
    """When a job is to be tried again, or None if it is not."""
    if isinstance(error, Permanent) or job.attempts >= queue.attempts:
        return None
    return now + delay(queue, job.attempts)
