import { Dialog } from '../parts/dialog.tsx'
import { saveFile } from '../parts/save-file.ts'
import { texts } from '../parts/texts.ts'
import type { Session } from '../session/session.ts'
import { CheckProgress, ImportProgress } from './progress.tsx'
import { ImportResult } from './result.tsx'
import { SettingsForm } from './settings-form.tsx'
import { isConverted } from './source.ts'
import { importTexts } from './texts.ts'
import { type ImportStage, useImport } from './use-import.ts'
import './import-dialog.css'

export interface ImportDialogProps {
  session: Session
  /** A dropped file; undefined to choose one in the dialog. */
  file: File | undefined
  onStored(): void
  onClose(): void
}

/** The import: choose a file, preview and settings, check, import, result. */
export function ImportDialog({ session, file, onStored, onClose }: ImportDialogProps) {
  const work = useImport({ session, file, onStored })
  const { stage, chosen, status } = work
  const source = chosen?.source
  // Closing stops a running import first, so that its result is shown.
  const isRunning = stage.is === 'checking' || stage.is === 'importing'
  function saveFailed() {
    const rows = work.failedRowsFile()
    if (source === undefined || rows === undefined) return
    const name = source.file.name.replace(/(\.\w+)?(\.gz)?$/i, `-failed.${source.format}`)
    void saveFile(rows.stream(), name, () => undefined)
  }
  return (
    <Dialog title={importTexts.title} onClose={isRunning ? work.stop : onClose}>
      {stage.is === 'choosing' && <FileChoice stage={stage} onFile={work.open} onClose={onClose} />}
      {stage.is === 'configuring' && chosen && (
        <SettingsForm
          client={session.client}
          {...chosen}
          checked={stage.checked}
          failure={stage.failure}
          onChange={work.changeSettings}
          onCheck={work.startCheck}
          onImport={work.startImport}
          onAnother={work.chooseAnother}
        />
      )}
      {stage.is === 'checking' && <CheckProgress share={stage.share} onStop={work.stop} />}
      {stage.is === 'importing' && source && (
        <ImportProgress
          status={status}
          fileBytes={source.file.size}
          isStopping={stage.isStopping}
          onStop={work.stop}
        />
      )}
      {stage.is === 'ended' && (
        <ImportResult
          status={status}
          isConverted={chosen !== undefined && isConverted(chosen.source, chosen.settings)}
          end={stage.end}
          onResume={work.resume}
          onSaveFailed={saveFailed}
          onAnother={work.chooseAnother}
          onClose={onClose}
        />
      )}
    </Dialog>
  )
}

/** The files that the browser offers: phones know only media types. */
const ACCEPTED =
  '.csv,.tsv,.txt,.json,.ndjson,.jsonl,.gz,text/csv,text/tab-separated-values,application/json,application/x-ndjson'

interface FileChoiceProps {
  stage: Extract<ImportStage, { is: 'choosing' }>
  onFile(file: File): void
  onClose(): void
}

function FileChoice({ stage, onFile, onClose }: FileChoiceProps) {
  return (
    <div class="import">
      <div class="field">
        <label for="import-file">{importTexts.choose}</label>
        <input
          id="import-file"
          type="file"
          data-first
          accept={ACCEPTED}
          aria-describedby="import-file-hint import-file-problem"
          disabled={stage.isOpening}
          onChange={({ currentTarget: { files } }) => files?.[0] && onFile(files[0])}
        />
        <span id="import-file-hint" class="hint">
          {importTexts.chooseHint}
        </span>
      </div>
      <p role="status">{stage.isOpening && importTexts.opening}</p>
      <p id="import-file-problem" class="wrong" role="alert">
        {stage.failure}
      </p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {texts.cancel}
        </button>
      </div>
    </div>
  )
}
