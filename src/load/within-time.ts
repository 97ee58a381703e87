/**
 * Settles as `promise` does, or rejects with the error that `createError` returns when that takes longer than
 * `timeoutMs`. What the promise stands for goes on all the same.
 */
export async function withinTime<Result>(
  promise: Promise<Result>,
  timeoutMs: number,
  createError: () => Error,
): Promise<Result> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(createError()), timeoutMs)
  try {
    return await Promise.race([promise, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
