import { useEffect, useRef, useState } from 'preact/hooks'
import { isAbort } from '../parts/failure-text.ts'
import { useLeaveWarning } from '../parts/use-leave-warning.ts'
import type { Session } from '../session/session.ts'
import { type CheckReport, checkFile } from './check-file.ts'
import { importFailureText } from './result.tsx'
import type { ImportEnd } from './run.ts'
import { guessSettings, type ImportSettings } from './settings.ts'
import { type ImportSource, openSource } from './source.ts'
import { importTexts } from './texts.ts'
import { useImportRun } from './use-run.ts'

/** The step of the import that is shown. */
export type ImportStage =
  | { is: 'choosing'; failure: string; isOpening: boolean }
  | { is: 'configuring'; checked?: CheckReport | undefined; failure: string }
  | { is: 'checking'; share: number }
  | { is: 'importing'; isStopping: boolean }
  | { is: 'ended'; end: ImportEnd }

export interface UseImportOptions {
  session: Session
  /** Opened at once, if defined. */
  file: File | undefined
  /** Called after an import, also a failed or stopped one. */
  onStored(): void
}

/** The state of the import dialog, from the choice of a file to the result. */
export function useImport({ session, file, onStored }: UseImportOptions) {
  const [stage, setStage] = useState<ImportStage>({
    is: 'choosing',
    failure: '',
    isOpening: file !== undefined,
  })
  const [chosen, setChosen] = useState<{ source: ImportSource; settings: ImportSettings }>()
  const check = useRef<AbortController>(undefined)
  const run = useImportRun((end) => {
    setStage({ is: 'ended', end })
    onStored()
  })
  useEffect(() => {
    if (file !== undefined) void open(file)
    return () => check.current?.abort()
  }, [])
  useLeaveWarning(stage.is === 'importing')

  async function open(opened: File) {
    setStage({ is: 'choosing', failure: '', isOpening: true })
    try {
      const source = await openSource(opened)
      setChosen({ source, settings: guessSettings(source) })
      setStage({ is: 'configuring', failure: '' })
    } catch (error) {
      setStage({ is: 'choosing', failure: importFailureText(error), isOpening: false })
    }
  }
  async function startCheck() {
    if (chosen === undefined) return
    const controller = new AbortController()
    const { signal } = controller
    check.current = controller
    setStage({ is: 'checking', share: 0 })
    try {
      const onShare = (share: number) => signal.aborted || setStage({ is: 'checking', share })
      const checked = await checkFile({ ...chosen, session, signal, onShare })
      setStage({ is: 'configuring', checked, failure: '' })
    } catch (error) {
      setStage({
        is: 'configuring',
        failure: isAbort(error) ? '' : `${importFailureText(error)} ${importTexts.onlyChecked}`,
      })
    }
  }
  function startImport() {
    if (chosen === undefined) return
    setStage({ is: 'importing', isStopping: false })
    // The import retries its slices itself, and shows it.
    void run.start({ ...chosen, client: session.clientOver(undefined, 1) })
  }
  return {
    ...{
      stage,
      chosen,
      status: run.status,
      failedRowsFile: run.failedRowsFile,
      open,
      startCheck,
      startImport,
    },
    changeSettings(settings: ImportSettings) {
      if (chosen !== undefined) setChosen({ ...chosen, settings })
      setStage({ is: 'configuring', failure: '' })
    },
    resume() {
      setStage({ is: 'importing', isStopping: false })
      void run.resume()
    },
    chooseAnother: () => setStage({ is: 'choosing', failure: '', isOpening: false }),
    /** Stops a running check or import. */
    stop() {
      if (stage.is === 'checking') check.current?.abort()
      if (stage.is !== 'importing') return
      run.stop()
      setStage({ is: 'importing', isStopping: true })
    },
  }
}
