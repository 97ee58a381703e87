/**
 * Tries `check`, whose assertions say what was not so yet, until it no longer throws; throws what it threw last
 * when `withinMs` have passed. `eventually` waits for a value instead.
 */
export async function keepTrying<Result>(
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
