import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What a file imports: another file, or a package. */
export interface Import {
  /** The importing file, from the root. */
  file: string
  /** The imported file, from the root, or the name of a package. */
  target: string
  isTypeOnly: boolean
  /** Whether it is imported when it is needed, by `import()`. */
  isDynamic: boolean
}

/** The files in a folder and below it whose names end so, from the root, sorted. */
export function filesUnder(folder: string, extension: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort()
}

/** The text of a file, named from the root. */
export const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** All imports of a file, those included that are loaded later. */
export function importsOf(file: string): Import[] {
  const statements = read(file).matchAll(
    /^(?:import|export)\s+(type\s)?[^'"`;]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
  )
  return [...statements].map(([, type, from, bare, dynamic]) => {
    const specifier = from ?? bare ?? dynamic ?? ''
    const target = specifier.startsWith('.') ? join(dirname(file), specifier) : specifier
    return { file, target, isTypeOnly: type !== undefined, isDynamic: dynamic !== undefined }
  })
}
