/** Waits for one turn of the event loop, so that other requests run in the middle of long work. */
export const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))
