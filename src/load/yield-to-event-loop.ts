/** Lets the event loop turn once, so that others are served in the middle of long work. */
export const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))
