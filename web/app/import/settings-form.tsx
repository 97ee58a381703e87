import { useEffect, useRef } from 'preact/hooks'
import type { PlantStoreClient } from '../../../src/client/plant-store-client.ts'
import { Choice } from '../parts/field.tsx'
import type { CheckReport } from './check-file.ts'
import { Preview, withHeader } from './preview.tsx'
import { FailedRowsList } from './result.tsx'
import { CONFLICT_RULES, type ImportSettings, isNumbered, problemOf } from './settings.ts'
import type { ImportSource } from './source.ts'
import { TableFields } from './table-fields.tsx'
import { importTexts } from './texts.ts'

export interface SettingsFormProps {
  client: PlantStoreClient
  source: ImportSource
  settings: ImportSettings
  /** The result of a check with these settings. */
  checked: CheckReport | undefined
  failure: string
  onChange(settings: ImportSettings): void
  onCheck(): void
  onImport(): void
  onAnother(): void
}

/** The preview of a file and the settings of its import. */
export function SettingsForm(props: SettingsFormProps) {
  const { source, settings, checked, failure, onChange } = props
  const form = useRef<HTMLFormElement>(null)
  const problem = problemOf(source, settings)
  useSuggestedId(props)
  useEffect(() => {
    // The result of a check may be out of view.
    if (checked !== undefined) return form.current?.querySelector<HTMLElement>('[role="status"]')?.focus()
    form.current?.querySelector<HTMLElement>('button.main')?.focus({ preventScroll: true })
    if (failure !== '') form.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: 'center' })
  }, [])
  const change = (part: Partial<ImportSettings>) => onChange({ ...settings, ...part })
  const isTable = source.format === 'csv'
  return (
    <form
      ref={form}
      class="import"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (problem === undefined) props.onImport()
      }}
    >
      <p class="long" dir="auto">
        <strong>{source.file.name}</strong> <span class="hint">{importTexts.size(source.file.size)}</span>
      </p>
      {isTable && (
        <Choice
          id="import-header"
          label={importTexts.header}
          isChosen={settings.hasHeader}
          onChange={(hasHeader) => onChange(withHeader(source, settings, hasHeader))}
        />
      )}
      <Preview source={source} settings={settings} onChange={change} />
      {isTable && <TableFields source={source} settings={settings} onChange={onChange} />}
      <Conflicts settings={settings} onChange={change} />
      <p role="status" tabIndex={-1}>
        {checked && importTexts.checked(checked)} {checked?.isInSlices && importTexts.checkedInSlices}
      </p>
      {checked && <FailedRowsList errors={checked.errors} failed={checked.failed} />}
      <p class="wrong long" role="alert">
        {failure || (problem && importTexts.problems[problem])}
      </p>
      <div class="buttons">
        <button type="submit" class="main" disabled={problem !== undefined}>
          {importTexts.import}
        </button>
        <button type="button" disabled={problem !== undefined} onClick={props.onCheck}>
          {importTexts.check}
        </button>
        <button type="button" onClick={props.onAnother}>
          {importTexts.another}
        </button>
      </div>
    </form>
  )
}

/** Suggests a first id if rows need ids and the field is empty. */
function useSuggestedId({ client, source, settings, onChange }: SettingsFormProps): void {
  const isNeeded = isNumbered(source.format, settings) && settings.idStart === ''
  const latest = useRef(settings)
  latest.current = settings
  const isSuggested = useRef(false)
  useEffect(() => {
    if (!isNeeded || isSuggested.current) return
    const controller = new AbortController()
    client.getNextId({ signal: controller.signal }).then(
      (id) => {
        isSuggested.current = true
        if (latest.current.idStart === '') onChange({ ...latest.current, idStart: String(id) })
      },
      // Without a suggestion, the user types one.
      () => undefined,
    )
    return () => controller.abort()
  }, [isNeeded])
}

function Conflicts({
  settings,
  onChange,
}: {
  settings: ImportSettings
  onChange(part: Partial<ImportSettings>): void
}) {
  return (
    <fieldset class="field">
      <legend>{importTexts.conflict}</legend>
      {CONFLICT_RULES.map((one) => (
        <div key={one} class="choice">
          <input
            id={`import-${one}`}
            type="radio"
            name="import-conflict"
            checked={one === settings.onConflict}
            onChange={() => onChange({ onConflict: one })}
          />
          <label for={`import-${one}`}>{importTexts.conflicts[one]}</label>
        </div>
      ))}
    </fieldset>
  )
}
