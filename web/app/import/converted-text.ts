import { RowEndError } from '../../../src/plants/import/row-scanner.ts'
import {
  type Converter,
  createTableConverter as createConverter,
} from '../../../src/plants/import/table-converter.ts'
import type { Delimiter } from '../../../src/plants/import/table-dialect.ts'
import { importTexts } from './texts.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** A converter of a table to commas, whose error about a row without an end is for people. */
export function createTableConverter(delimiter: Delimiter): Converter {
  const { convert, end } = createConverter(delimiter)
  function forPeople(run: () => Bytes): Bytes {
    try {
      return run()
    } catch (error) {
      if (error instanceof RowEndError) throw new Error(importTexts.endlessRow(error.line))
      throw error
    }
  }
  return { convert: (chunk) => forPeople(() => convert(chunk)), end: () => forPeople(end) }
}

const encoder = new TextEncoder()
const codeOf = (character: string) => character.charCodeAt(0)
const [QUOTE, ESCAPE, COMMA, LINE_FEED, RETURN, SPACE] = ['"', '\\', ',', '\n', '\r', ' '].map(codeOf)
const OPENING = ['[', '{'].map(codeOf)
const CLOSING = [']', '}'].map(codeOf)

/** Converts a JSON array to NDJSON: a line for each element. Digits stay as written, so that ids are exact. */
export function createArrayConverter(): Converter {
  let depth = 0
  let isInText = false
  let isEscaped = false
  function convertByte(byte: number): number {
    if (isInText) {
      if (!isEscaped && byte === QUOTE) isInText = false
      isEscaped = !isEscaped && byte === ESCAPE
      return byte
    }
    if (byte === QUOTE) isInText = true
    const isOuter = (OPENING.includes(byte) && depth++ === 0) || (CLOSING.includes(byte) && --depth === 0)
    if (isOuter || byte === LINE_FEED || byte === RETURN) return SPACE as number
    return byte === COMMA && depth === 1 ? (LINE_FEED as number) : byte
  }
  return {
    convert: (chunk) => chunk.map(convertByte) as Bytes,
    end: (): Bytes => encoder.encode('\n') as Bytes,
  }
}

/** A converter as a stream. */
export function converterStream({ convert, end }: Converter) {
  return new TransformStream<Bytes, Bytes>({
    transform: (chunk, controller) => controller.enqueue(convert(chunk)),
    flush: (controller) => controller.enqueue(end()),
  })
}
