import { closestMatch } from '../closest-match.ts'
import { type Environment, parseSetting, type Setting, type ValueOf } from './setting.ts'
import { createSettingProblems, type SettingProblems } from './setting-problems.ts'
import { CLIENT_SETTINGS, SETTINGS } from './settings.ts'
import { readTracing, type TracingSettings } from './tracing-settings.ts'

/** Every variable of ours begins so. */
const PREFIX = 'PLANTSTORE_'

export type SettingName = keyof typeof SETTINGS
type ClientSettingName = keyof typeof CLIENT_SETTINGS

type ValuesOf<Table extends Record<string, Setting>> = {
  readonly [Name in keyof Table]: Table[Name] extends { default: string | number | boolean }
    ? ValueOf<Table[Name]>
    : ValueOf<Table[Name]> | undefined
}

export type Config = ValuesOf<typeof SETTINGS> & {
  /** Where requests are traced to; undefined for nowhere. */
  readonly tracing: TracingSettings | undefined
  /** Where systemd waits to hear that the service is ready (sd_notify(3)); undefined where nobody waits. */
  readonly notifySocket: string | undefined
}
export type ClientConfig = ValuesOf<typeof CLIENT_SETTINGS>

/**
 * The settings, from the flags of the command line first, then from the environment, then from the defaults; those of
 * tracing are the standard variables of OpenTelemetry.
 * The only reader of `process.env`. Throws a SettingError with a line for each setting that is wrong, which names it
 * and what it may be.
 */
export function readConfig(
  flags: Partial<Record<SettingName, string | boolean>> = {},
  environment: Environment = process.env,
): Config {
  const wrong = createSettingProblems()
  const settings = readSettings(SETTINGS, flags, environment, wrong)
  const tracing = wrong.note(() => readTracing(environment))
  wrong.refuse()
  const { NOTIFY_SOCKET: notifySocket } = environment
  return Object.freeze({ ...settings, tracing, notifySocket }) as Config
}

/** `readConfig` for the commands that talk to a service. */
export function readClientConfig(
  flags: Partial<Record<ClientSettingName, string>> = {},
  environment: Environment = process.env,
): ClientConfig {
  const wrong = createSettingProblems()
  const settings = readSettings(CLIENT_SETTINGS, flags, environment, wrong)
  wrong.refuse()
  return Object.freeze(settings) as ClientConfig
}

function readSettings(
  settings: Record<string, Setting>,
  flags: Record<string, string | boolean>,
  environment: Environment,
  wrong: SettingProblems,
): Record<string, unknown> {
  refuseUnknown(environment, wrong)
  const config: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const flag = flags[name]
    const variable = environment[variableOf(name)]
    const read = (source: string, text: string) => {
      config[name] = wrong.note(() => parseSetting(source, setting, text))
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

function refuseUnknown(environment: Environment, wrong: SettingProblems): void {
  const known = new Set([...Object.keys(SETTINGS), ...Object.keys(CLIENT_SETTINGS)].map(variableOf))
  // Without what all of them begin with, which would make any two alike.
  const endings = [...known].map(endingOf)
  for (const name of Object.keys(environment)) {
    if (!name.startsWith(PREFIX) || known.has(name)) continue
    const near = closestMatch(endingOf(name), endings)
    const hint = near === undefined ? '' : ` Did you mean ${PREFIX}${near.toUpperCase()}?`
    wrong.add(`There is no setting ${name}.${hint} See "plantstore serve --help" for those there are.`)
  }
}

function endingOf(variable: string): string {
  return variable.slice(PREFIX.length).toLowerCase()
}
