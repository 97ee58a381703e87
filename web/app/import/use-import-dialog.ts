import type { FunctionComponent } from 'preact'
import { useState } from 'preact/hooks'
import type { Notify } from '../parts/notices.tsx'
import { texts } from '../parts/texts.ts'
import type { ImportDialogProps } from './import-dialog.tsx'

interface OpenDialog {
  Dialog: FunctionComponent<ImportDialogProps>
  file: File | undefined
}

/** The import dialog, loaded when it first opens, and listeners that open it for a dropped file. */
export function useImportDialog(notify: Notify) {
  const [dialog, setDialog] = useState<OpenDialog>()
  const [isOver, setOver] = useState(false)

  async function open(file: File | undefined) {
    try {
      const { ImportDialog } = await import('./import-dialog.tsx')
      setDialog({ Dialog: ImportDialog, file })
    } catch {
      notify({ text: texts.import.notLoaded, isFailure: true })
    }
  }

  // The file field of the dialog handles its own drops.
  const hasFile = ({ dataTransfer, target }: DragEvent) =>
    dataTransfer?.types.includes('Files') === true && !(target instanceof HTMLInputElement && target.files)
  const dropping = {
    onDragOver(event: DragEvent) {
      if (!hasFile(event)) return
      event.preventDefault()
      // An open import is not replaced.
      setOver(dialog === undefined)
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      if (!hasFile(event)) return
      event.preventDefault()
      setOver(false)
      if (event.dataTransfer === null || dialog !== undefined) return
      const { files, items } = event.dataTransfer
      const isFolder = items[0]?.webkitGetAsEntry()?.isDirectory === true
      const [file] = files
      if (isFolder || files.length > 1) notify({ text: texts.import.oneFile, isFailure: true })
      else if (file !== undefined) void open(file)
    },
  }
  return { dialog, isOver, dropping, open, close: () => setDialog(undefined) }
}
