import { useEffect, useRef, useState } from 'preact/hooks'
import type { FileFormat, PlantStoreClient } from '../../src/client/plant-store-client.ts'
import { Dialog } from './dialog.tsx'
import { failureText, isAbort } from './failure-text.ts'
import type { Place } from './place.ts'
import { saveFile } from './save-file.ts'
import { texts } from './texts.ts'

const words = texts.export
const FORMATS: readonly FileFormat[] = ['csv', 'ndjson']

interface ExportDialogProps {
  client: PlantStoreClient
  place: Place
  onClose(): void
}

/** Saves the plants of the filter as a file, as they are at one moment. */
export function ExportDialog({ client, place, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<FileFormat>('csv')
  const [told, setTold] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState('')
  const controller = useRef(new AbortController())
  useEffect(() => () => controller.current.abort(), [])

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    setFailure('')
    const { signal } = controller.current
    const q = place.q === '' ? undefined : place.q
    try {
      // A byte order mark: by it a spreadsheet knows UTF-8.
      const bytes = await client.exportPlants({ format, q, tag: place.tag, bom: format === 'csv', signal })
      const size = await saveFile(bytes, `plants.${format}`, (count) => setTold(words.progress(count)))
      setTold(words.done(size))
    } catch (error) {
      if (isAbort(error)) return
      setTold('')
      setFailure(failureText(error))
    }
    setBusy(false)
  }
  return (
    <Dialog title={words.title} onClose={onClose}>
      <form onSubmit={save}>
        <p class="long" dir="auto">
          {words.which(place.q, place.tag)}
        </p>
        <fieldset class="field" disabled={isBusy}>
          <legend>{words.format}</legend>
          {FORMATS.map((one) => (
            <div key={one} class="choice">
              <input
                id={`format-${one}`}
                type="radio"
                name="format"
                checked={one === format}
                onChange={() => setFormat(one)}
              />
              <label for={`format-${one}`}>{words.formats[one]}</label>
            </div>
          ))}
        </fieldset>
        <p role="status">{told}</p>
        <p class="wrong" role="alert">
          {failure}
        </p>
        <div class="buttons">
          <button type="submit" class="main" disabled={isBusy}>
            {isBusy ? words.saving : words.save}
          </button>
          <button type="button" onClick={onClose}>
            {isBusy ? texts.cancel : texts.close}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
