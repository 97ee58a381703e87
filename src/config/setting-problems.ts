import { SettingError } from '../errors.ts'

/** Gathers what is wrong with settings: who mends one wants to know of the others. */
export interface SettingProblems {
  /** Gives what `read` gives; of a SettingError that it throws the line is kept, and undefined given. */
  note<Value>(read: () => Value): Value | undefined
  add(line: string): void
  /** Throws a SettingError with a line for each that was noted or added; nothing where there is none. */
  refuse(): void
}

export function createSettingProblems(): SettingProblems {
  const lines = new Set<string>()
  return {
    note(read) {
      try {
        return read()
      } catch (error) {
        if (!(error instanceof SettingError)) throw error
        for (const line of error.message.split('\n')) lines.add(line)
        return undefined
      }
    },
    add: (line) => void lines.add(line),
    refuse() {
      if (lines.size > 0) throw new SettingError([...lines].join('\n'))
    },
  }
}
