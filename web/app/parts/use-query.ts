import { useEffect, useState } from 'preact/hooks'
import { isAbort } from './failure-text.ts'

export interface Query<T> {
  /** The last result; undefined before the first one. */
  data: T | undefined
  /** Why the last request failed; undefined once one succeeds. */
  failure: unknown
  retry(): void
}

/** Runs a request when a view opens, and again when `request` is another function. */
export function useQuery<T>(request: (signal: AbortSignal) => Promise<T>): Query<T> {
  const [data, setData] = useState<T>()
  const [failure, setFailure] = useState<unknown>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    request(controller.signal).then(
      (value) => {
        setData(() => value)
        setFailure(undefined)
      },
      (error: unknown) => isAbort(error) || setFailure(error),
    )
    return () => controller.abort()
  }, [request, tries])
  return { data, failure, retry: () => setTries((count) => count + 1) }
}
