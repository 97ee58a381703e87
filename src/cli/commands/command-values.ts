import { InvalidArgumentError, Option } from 'commander'
import { suggestion } from '../../closest-match.ts'
import { variableOf } from '../../config/read-config.ts'
import { FILE_RULE, isFilePath } from '../../config/setting.ts'
import { SETTINGS } from '../../config/settings.ts'
import { ID_MAX, ID_MIN, parseIdText } from '../../plants/plant.ts'

/** Parses an id by the service's own rule. */
export function parseId(text: string): bigint {
  const id = parseIdText(text)
  if (id === undefined)
    throw new InvalidArgumentError(`An id must be a whole number from ${ID_MIN} to ${ID_MAX}.`)
  return id
}

/** Returns the path of a file by the rule of the settings. */
export function parseFile(text: string): string {
  if (isFilePath(text)) return text
  throw new InvalidArgumentError(`It must be ${FILE_RULE}.`)
}

/** Parses one more of several ids. */
export function parseIds(text: string, before: readonly bigint[] = []): bigint[] {
  return [...before, parseId(text)]
}

/** Parses an ETag, also without its quotation marks, which a shell removes, and weak, as some proxies make it. */
export function parseETag(text: string): string {
  return text === '*' || text.endsWith('"') ? text : `"${text.replace(/^W\//, '')}"`
}

/** Parses a number from 1 (or `minimum`) to `maximum`. */
export function parseCount(maximum: number, minimum = 1): (text: string) => number {
  return (text) => {
    const count = /^(?:0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN
    if (count >= minimum && count <= maximum) return count
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`)
  }
}

/** The option `--database`, with its setting. Commands that work on a file take no URL of PostgreSQL. */
export function databaseOption(value: 'file' | 'file or URL', about = 'Database of the store'): Option {
  const { default: preset } = SETTINGS.database
  return new Option(`--database <${value}>`, `${about} (default: ${preset}) [${variableOf('database')}]`)
}

/** An option that takes one of several words; the message for a typo suggests the closest one. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).argParser((text) => parseChoice(text, choices))
}

export function parseChoice(text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text
  throw new InvalidArgumentError(`It must be one of ${choices.join(', ')}.${suggestion(text, choices)}`)
}
