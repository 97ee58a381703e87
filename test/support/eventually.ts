/** Far more than what is waited for takes. */
const PATIENCE_MS = 5_000
const LOOK_EVERY_MS = 5

/** The first value of `look` that is neither undefined nor false; fails when there is none within `patienceMs`. */
export async function eventually<Value>(
  look: () => Value | Promise<Value>,
  patienceMs = PATIENCE_MS,
): Promise<Exclude<Value, undefined | false>> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const value = await look()
    if (value !== undefined && value !== false) return value as Exclude<Value, undefined | false>
    if (performance.now() > deadline) throw new Error(`It did not happen within ${patienceMs} ms: ${look}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
