import { useState } from 'preact/hooks'
import { isAbort } from './failure-text.ts'
import { type Problems, problemsIn } from './form-errors.ts'

export interface Sending<Field extends string> {
  /** Whether something is under way: nothing else is sent meanwhile. */
  isBusy: boolean
  problems: Problems<Field>
  /** Tells what is wrong before anything is sent. */
  complain(problems: Problems<Field>): void
  /** Does the work. What fails becomes problems, unless `judge` takes it on, which it says with true. */
  send(work: () => Promise<unknown>, judge?: (error: unknown) => Promise<boolean>): Promise<void>
}

/** How a form sends what is in it, and what came of that. `fields` are those that a refusal can be about. */
export function useSubmit<Field extends string>(fields: readonly Field[]): Sending<Field> {
  const [isBusy, setBusy] = useState(false)
  const [problems, setProblems] = useState<Problems<Field>>({})
  return {
    isBusy,
    problems,
    complain: setProblems,
    async send(work, judge = async () => false) {
      setBusy(true)
      setProblems({})
      try {
        await work()
      } catch (error) {
        if (!isAbort(error) && !(await judge(error))) setProblems(problemsIn(error, fields))
      }
      setBusy(false)
    },
  }
}
