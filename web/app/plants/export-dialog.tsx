import { useEffect, useRef, useState } from 'preact/hooks'
import type { FileFormat, PlantStoreClient } from '../../../src/client/plant-store-client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { QuotedTextView } from '../parts/quoted-text-view.tsx'
import { saveFile } from '../parts/save-file.ts'
import { shownTag } from '../parts/shown-text.ts'
import { texts } from '../parts/texts.ts'
import { useSubmit } from '../parts/use-submit.ts'
import type { Place } from '../session/place.ts'

const words = texts.export
const FORMATS: readonly FileFormat[] = ['csv', 'ndjson']

interface ExportDialogProps {
  client: PlantStoreClient
  place: Place
  onClose(): void
}

/** Saves a snapshot of the filtered plants to a file. */
export function ExportDialog({ client, place, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<FileFormat>('csv')
  const [progress, setProgress] = useState('')
  const submission = useSubmit([])
  const tag = place.tag === undefined ? undefined : shownTag(place.tag)
  const controller = useRef(new AbortController())
  useEffect(() => () => controller.current.abort(), [])

  async function save() {
    const { signal } = controller.current
    const q = place.q === '' ? undefined : place.q
    try {
      // Spreadsheets recognise UTF-8 by the byte order mark.
      const bytes = await client.exportPlants({ format, q, tag: place.tag, bom: format === 'csv', signal })
      const size = await saveFile(bytes, `plants.${format}`, (count) => setProgress(words.progress(count)))
      setProgress(words.done(size))
    } catch (error) {
      setProgress('')
      throw error
    }
  }
  return (
    <Dialog title={words.title} onClose={onClose}>
      <Form
        submission={submission}
        label={words.save}
        busyLabel={words.saving}
        closeLabel={submission.isSubmitting ? texts.cancel : texts.close}
        onSubmit={() => void submission.submit(save)}
        onClose={onClose}
      >
        <p class="long">
          <QuotedTextView text={words.which(place.q, tag)} />
        </p>
        <fieldset class="field">
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
        <p role="status">{progress}</p>
      </Form>
    </Dialog>
  )
}
