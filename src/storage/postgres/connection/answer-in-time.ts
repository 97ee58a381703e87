/** Fulfils as `answer` does, or rejects with an error of this code when that takes too long. */
export async function answerInTime<Result>(
  answer: Promise<Result>,
  withinMs: number,
  code: string,
): Promise<Result> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => timeout.reject(Object.assign(new Error('no answer in time'), { code })),
    withinMs,
  )
  try {
    return await Promise.race([answer, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
