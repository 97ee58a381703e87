/** So much is gathered before it becomes a part of the file, which the browser may put on disk. */
const PART_BYTES = 8 * 2 ** 20
/** How long the browser is given to take the file over. */
const TAKEN_OVER_MS = 60_000

/**
 * Reads the bytes to their end, tells how many there are, and has the browser save them. Throws what the stream
 * throws; then nothing is saved.
 */
export async function saveFile(
  bytes: ReadableStream<Uint8Array>,
  name: string,
  onProgress: (byteCount: number) => void,
): Promise<number> {
  const parts: Blob[] = []
  let chunks: Uint8Array<ArrayBuffer>[] = []
  let gathered = 0
  let count = 0
  const reader = bytes.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (value !== undefined) {
      chunks.push(value as Uint8Array<ArrayBuffer>)
      gathered += value.length
      count += value.length
      onProgress(count)
    }
    if (!done && gathered < PART_BYTES) continue
    parts.push(new Blob(chunks))
    chunks = []
    gathered = 0
    if (done) break
  }
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob(parts))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), TAKEN_OVER_MS)
  return count
}
