import { isIP } from 'node:net'
import { compile } from '@fastify/proxy-addr'
import { SettingError } from '../errors.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The type of a setting, its bounds, default and description. */
export interface Setting {
  type:
    | 'text'
    | 'file'
    | 'folder'
    | 'secret'
    | 'url'
    | 'integer'
    | 'boolean'
    | 'choice'
    | 'origins'
    | 'addresses'
  default?: string | number | boolean
  minimum?: number
  maximum?: number
  choices?: readonly string[]
  /** Of a URL: it must be https, or http to this machine. */
  isSecure?: true
  about: string
}

/** The type of a setting's value. */
export type ValueOf<S extends Setting> = S extends { type: 'integer' }
  ? number
  : S extends { type: 'boolean' }
    ? boolean
    : S extends { type: 'origins' }
      ? readonly string[]
      : S extends { choices: readonly (infer Choice)[] }
        ? Choice
        : string

const FINISHED_RULE =
  'without ~ at its start, without quotes or spaces around it, and without control characters'

/** What `isFilePath` requires, for messages. */
export const FILE_RULE = `the path of a file, not of a folder, ${FINISHED_RULE}`

type Value = string | number | boolean | readonly string[]

/** Parses the text of a setting. Throws a SettingError with its `source` (a variable or flag) and the rule. */
export function parseSetting(source: string, setting: Setting, text: string): Value {
  // Quoted as JSON, so that the message stays one line.
  const invalid = (rule: string, wrong = text) =>
    new SettingError(`${source} must be ${rule}, not ${JSON.stringify(wrong)}.`)
  switch (setting.type) {
    case 'integer': {
      const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = setting
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
      if (value >= minimum && value <= maximum) return value
      throw invalid(`a whole number from ${minimum} to ${maximum}`)
    }
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true'
      throw invalid('true or false')
    case 'choice':
      if (setting.choices?.includes(text)) return text
      throw invalid(`one of ${setting.choices?.join(', ')}`)
    case 'url':
      if (isBaseUrl(text) && (!setting.isSecure || isSecureUrl(text))) return text
      if (setting.isSecure) {
        throw new SettingError(
          `${source} must be an https URL without user, query or fragment; its path must be plain. http is allowed to this machine only.`,
        )
      }
      // Without the value, which may contain a password.
      throw new SettingError(
        `${source} must be an http or https URL without user, query or fragment; its path must be plain.`,
      )
    case 'origins': {
      const origins = partsOf(text)
      const wrong = origins.find((origin) => origin !== '*' && !isOrigin(origin))
      if (wrong === undefined) return origins
      throw invalid('origins such as https://plants.example, separated by commas, or *', wrong)
    }
    case 'secret': {
      const { minimum = 16, maximum = 512 } = setting
      // Without the value: a message may end in a log.
      if (/^[A-Za-z0-9\-._~+/]+=*$/.test(text) && text.length >= minimum && text.length <= maximum)
        return text
      throw new SettingError(
        `${source} must be ${minimum} to ${maximum} characters from A-Z a-z 0-9 - . _ ~ + / (RFC 6750).`,
      )
    }
    case 'addresses': {
      const wrong = partsOf(text).find((part) => !isAddressRange(part))
      if (wrong === undefined) return text
      throw invalid(
        'addresses, ranges (10.0.0.0/8), loopback, linklocal or uniquelocal, separated by commas',
        wrong,
      )
    }
    case 'file':
      if (isFilePath(text)) return text
      // Without the value: it may be a URL with a password.
      throw new SettingError(`${source} must be ${FILE_RULE}.`)
    case 'folder':
      if (isFinishedPath(text)) return text
      throw invalid(`the path of a folder ${FINISHED_RULE}`)
    case 'text':
      // An empty host would mean every address of the machine.
      if (isPlain(text)) return text
      throw invalid('a text without control characters and spaces around it')
  }
}

/** False for what a file with variables adds by mistake: the end of a line of Windows, a space after the value. */
function isPlain(text: string): boolean {
  return text !== '' && text.trim() === text && !/\p{Cc}/u.test(text)
}

/**
 * False for a path that no shell has finished: with quotes around it, or a ~, which would create a folder of that name
 * with a new and empty store. False for control characters, such as the end of a line of Windows. Names with a plain
 * line break exist.
 */
function isFinishedPath(text: string): boolean {
  return text !== '' && text.trim() === text && !/[^\P{Cc}\n]/u.test(text) && !/^~|^(["']).*\1$/s.test(text)
}

/** Whether a path, or the URL of a database, may name a file: `z/` and `z/.` can only be folders. Checks no file. */
export function isFilePath(text: string): boolean {
  return isFinishedPath(text) && (text.includes('://') || !/\/\.{0,2}$/.test(text))
}

/** The members of a list that is separated by commas. */
function partsOf(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}

/** Whether it is an origin as browsers send it (RFC 6454 §6.1): without a path and a default port. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text
}

/** Whether a URL is https, or http to this machine, where no network is involved. */
export function isSecureUrl(text: string): boolean {
  const { protocol, hostname } = URL.parse(text) ?? {}
  return (
    protocol === 'https:' ||
    (protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname ?? ''))
  )
}

/** Whether the path can prefix every route as it is: without patterns, encoded characters and empty segments. */
function isBaseUrl(text: string): boolean {
  const url = URL.parse(text)
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    /^(?:\/[A-Za-z0-9\-._~]+)*\/?$/.test(url.pathname) &&
    url.username + url.password + url.search + url.hash === ''
  )
}

/**
 * True for an address, a range (`10.0.0.0/8`), and the words loopback, linklocal and uniquelocal. The range of every
 * address is rejected: it would trust every client.
 */
export function isAddressRange(text: string): boolean {
  const [, address = '', bits] = /^([^/%]+)(\/[1-9]\d*)?$/.exec(text) ?? []
  // proxy-addr also accepts short forms such as `10.0`, which are more likely a mistake.
  if (isIP(address) === 0 && (bits !== undefined || !/^[a-z]+$/.test(address))) return false
  try {
    compile(text)
    return true
  } catch {
    return false
  }
}
