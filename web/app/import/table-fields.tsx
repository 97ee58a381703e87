import { DELIMITERS, ENCODINGS } from '../../../src/plants/import/table-dialect.ts'
import { Field } from '../parts/field.tsx'
import { guessSettings, type ImportSettings, isNumbered } from './settings.ts'
import type { ImportSource, Reading } from './source.ts'
import { importTexts } from './texts.ts'

interface TableFieldsProps {
  source: ImportSource
  settings: ImportSettings
  onChange(settings: ImportSettings): void
}

/** The settings that only tables have, apart from the columns. */
export function TableFields({ source, settings, onChange }: TableFieldsProps) {
  const { encoding, delimiter } = settings
  function read(reading: Reading) {
    const { hasHeader, roles } = guessSettings(source, reading)
    // With another number of columns, their roles are guessed again.
    const hasSameColumns = roles.length === settings.roles.length
    onChange({ ...settings, ...reading, ...(!hasSameColumns && { hasHeader, roles }) })
  }
  return (
    <div class="import-fields">
      {isNumbered(source.format, settings) && (
        <Field
          id="import-id-start"
          label={importTexts.idStart}
          hint={importTexts.idStartHint}
          dir="ltr"
          value={settings.idStart}
          onText={(idStart) => onChange({ ...settings, idStart })}
        />
      )}
      <SelectField
        id="import-delimiter"
        label={importTexts.delimiter}
        hint={importTexts.delimiterHint}
        value={delimiter}
        values={DELIMITERS}
        names={importTexts.delimiters}
        onValue={(chosen) => read({ encoding, delimiter: chosen })}
      />
      <SelectField
        id="import-encoding"
        label={importTexts.encoding}
        hint={importTexts.encodingHint}
        value={encoding}
        values={ENCODINGS}
        names={importTexts.encodings}
        onValue={(chosen) => read({ encoding: chosen, delimiter })}
      />
    </div>
  )
}

interface SelectFieldProps<Value extends string> {
  id: string
  label: string
  hint: string
  value: Value
  values: readonly Value[]
  names: Record<Value, string>
  onValue(value: Value): void
}

function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { id, label, hint, value, values, names, onValue } = props
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={`${id}-hint`}
        onChange={({ currentTarget }) => {
          const chosen = values.find((one) => one === currentTarget.value)
          if (chosen !== undefined) onValue(chosen)
        }}
      >
        {values.map((one) => (
          <option key={one} value={one}>
            {names[one]}
          </option>
        ))}
      </select>
      <span id={`${id}-hint`} class="hint">
        {hint}
      </span>
    </div>
  )
}
