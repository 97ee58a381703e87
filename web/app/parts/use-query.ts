import { useEffect, useState } from 'preact/hooks'
import { isAbort } from './failure-text.ts'

export interface Asked<T> {
  /** Undefined as long as there is none. */
  answer: T | undefined
  /** Why there is none, or no newer one; undefined as soon as there is. */
  failure: unknown
  retry(): void
}

/** The answer to what a view asks when it opens; asked anew where `ask` is another function. */
export function useQuery<T>(ask: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const [answer, setAnswer] = useState<T>()
  const [failure, setFailure] = useState<unknown>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    ask(controller.signal).then(
      (value) => {
        setAnswer(() => value)
        setFailure(undefined)
      },
      (error: unknown) => isAbort(error) || setFailure(error),
    )
    return () => controller.abort()
  }, [ask, tries])
  return { answer, failure, retry: () => setTries((count) => count + 1) }
}
