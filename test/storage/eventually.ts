/** Tries `check` until it no longer throws, and throws what it threw last when `withinMs` have passed. */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  { withinMs = 10_000, everyMs = 5 }: { withinMs?: number; everyMs?: number } = {},
): Promise<Result> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
