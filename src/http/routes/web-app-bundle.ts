import { readFile } from 'node:fs/promises'
import { publish, type StaticFile } from '../response/static-file.ts'

/** The built web app: its entry files, and every file below /assets/. */
export interface WebAppBundle {
  /** Names below /assets/. */
  script: string
  styles: readonly string[]
  /** The file of this name; undefined if the bundle has no such file. */
  fileNamed(name: string): Promise<StaticFile> | undefined
}

/** The members of a chunk in Vite's manifest that are used here. */
interface ManifestEntry {
  file: string
  isEntry?: boolean
  css?: string[]
}

const DIST = new URL('../../../web/dist/', import.meta.url)
const ASSETS = 'assets/'

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['svg', 'image/svg+xml'],
])

/** Reads the manifest of the build; undefined without a build. A file is read at its first request. */
export async function readWebAppBundle(folder = DIST): Promise<WebAppBundle | undefined> {
  const manifest = await readManifest(folder)
  const entries = Object.values(manifest)
  const entry = entries.find(({ isEntry }) => isEntry)
  if (entry === undefined) return undefined
  const names = new Set(entries.flatMap(({ file, css = [] }) => [file, ...css]).map(assetName))
  const cached = new Map<string, Promise<StaticFile>>()
  return {
    script: assetName(entry.file),
    styles: (entry.css ?? []).map(assetName),
    fileNamed(name) {
      if (!names.has(name)) return undefined
      const known = cached.get(name)
      if (known !== undefined) return known
      const mediaType = MEDIA_TYPES.get(name.slice(name.lastIndexOf('.') + 1)) ?? 'application/octet-stream'
      const reading = readFile(new URL(ASSETS + name, folder)).then((bytes) => publish(mediaType, bytes))
      cached.set(name, reading)
      // The next request retries a read that failed.
      reading.catch(() => cached.delete(name))
      return reading
    },
  }
}

async function readManifest(folder: URL): Promise<Record<string, ManifestEntry>> {
  try {
    return JSON.parse(await readFile(new URL('manifest.json', folder), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

function assetName(file: string): string {
  return file.slice(file.indexOf(ASSETS) + ASSETS.length)
}
