/** Chunks are merged into blobs of this size, which the browser may move to disk. */
const PART_BYTES = 8 * 2 ** 20
/** The object URL is revoked after this time. The browser has started the download by then. */
const REVOKE_AFTER_MS = 60_000

/**
 * Reads a stream to its end, saves it as a file and returns its size in bytes. If the stream fails, throws its error
 * and saves nothing.
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
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_AFTER_MS)
  return count
}
