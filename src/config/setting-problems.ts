import { SettingError } from '../errors.ts'

/** Collects the problems of several settings, so that one start reports them all. */
export interface SettingProblems {
  /** Returns what `read` returns; collects a SettingError that it throws and returns undefined. */
  collect<Value>(read: () => Value): Value | undefined
  add(line: string): void
  /** Throws a SettingError with a line for each problem, if there is any. */
  throwIfAny(): void
}

export function createSettingProblems(): SettingProblems {
  const lines = new Set<string>()
  return {
    collect(read) {
      try {
        return read()
      } catch (error) {
        if (!(error instanceof SettingError)) throw error
        for (const line of error.message.split('\n')) lines.add(line)
        return undefined
      }
    },
    add: (line) => void lines.add(line),
    throwIfAny() {
      if (lines.size > 0) throw new SettingError([...lines].join('\n'))
    },
  }
}
