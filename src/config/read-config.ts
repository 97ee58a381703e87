import { closestMatch } from '../closest-match.ts'
import { isServiceLink } from './service-links.ts'
import { type Environment, parseSetting, type Setting, type ValueOf } from './setting.ts'
import { createSettingProblems, type SettingProblems } from './setting-problems.ts'
import { CLIENT_SETTINGS, SETTINGS } from './settings.ts'
import { readTracing, type TracingSettings } from './tracing-settings.ts'

/** The prefix of all our variables. */
const PREFIX = 'PLANTSTORE_'

export type SettingName = keyof typeof SETTINGS
type ClientSettingName = keyof typeof CLIENT_SETTINGS

type ValuesOf<Table extends Record<string, Setting>> = {
  readonly [Name in keyof Table]: Table[Name] extends { default: string | number | boolean }
    ? ValueOf<Table[Name]>
    : ValueOf<Table[Name]> | undefined
}

export type Config = ValuesOf<typeof SETTINGS> & {
  /** Undefined: requests are not traced. */
  readonly tracing: TracingSettings | undefined
  /** The socket for systemd's readiness notification (sd_notify(3)); undefined without systemd. */
  readonly notifySocket: string | undefined
}
export type ClientConfig = ValuesOf<typeof CLIENT_SETTINGS>

/**
 * The settings: flags of the command line first, then the environment, then defaults. Those of tracing are the standard
 * variables of OpenTelemetry.
 * Throws a SettingError with a line for each invalid setting.
 */
export function readConfig(
  flags: Partial<Record<SettingName, string | boolean>>,
  environment: Environment,
): Config {
  const problems = createSettingProblems()
  const settings = readSettings(SETTINGS, flags, environment, problems)
  const tracing = problems.collect(() => readTracing(environment))
  problems.throwIfAny()
  const { NOTIFY_SOCKET: notifySocket } = environment
  return Object.freeze({ ...settings, tracing, notifySocket }) as Config
}

/** `readConfig` for the commands that call a service. */
export function readClientConfig(
  flags: Partial<Record<ClientSettingName, string>>,
  environment: Environment,
): ClientConfig {
  const problems = createSettingProblems()
  const settings = readSettings(CLIENT_SETTINGS, flags, environment, problems)
  problems.throwIfAny()
  return Object.freeze(settings) as ClientConfig
}

function readSettings(
  settings: Record<string, Setting>,
  flags: Record<string, string | boolean>,
  variables: Environment,
  problems: SettingProblems,
): Record<string, unknown> {
  const environment = withoutServiceLinks(variables)
  rejectUnknown(environment, problems)
  const config: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const flag = flags[name]
    const variable = environment[variableOf(name)]
    const read = (source: string, text: string) => {
      config[name] = problems.collect(() => parseSetting(source, setting, text))
    }
    if (flag !== undefined) read(flagOf(name), String(flag))
    else if (variable !== undefined && variable !== '') read(variableOf(name), variable)
    else config[name] = setting.default
  }
  return config
}

/** `queuedWritesMax`: PLANTSTORE_QUEUED_WRITES_MAX */
export function variableOf(name: string): string {
  return `${PREFIX}${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`
}

/** `queuedWritesMax`: --queued-writes-max */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`
}

function withoutServiceLinks(environment: Environment): Environment {
  const entries = Object.entries(environment)
  return Object.fromEntries(
    entries.filter(([name, value = '']) => !(name.startsWith(PREFIX) && isServiceLink(name, value))),
  )
}

function rejectUnknown(environment: Environment, problems: SettingProblems): void {
  const known = new Set([...Object.keys(SETTINGS), ...Object.keys(CLIENT_SETTINGS)].map(variableOf))
  // Without the prefix, which would make any two similar.
  const endings = [...known].map(endingOf)
  for (const name of Object.keys(environment)) {
    if (!name.startsWith(PREFIX) || known.has(name)) continue
    const near = closestMatch(endingOf(name), endings)
    const hint = near === undefined ? '' : ` Did you mean ${PREFIX}${near.toUpperCase()}?`
    problems.add(`There is no setting ${name}.${hint} "plantstore serve --help" lists all settings.`)
  }
}

function endingOf(variable: string): string {
  return variable.slice(PREFIX.length).toLowerCase()
}
