import type { RetiredWord } from './retired-words.ts'

/** What an area may still have: remove a word as soon as the area is rid of it. An area is the start of a path. */
export const PENDING: Readonly<Record<string, readonly RetiredWord[]>> = {
  'src/cli': [],
  'src/client': [],
}
