import { useState } from 'preact/hooks'
import type { Token } from '../../../src/client/plant-store-client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { useSubmit } from '../parts/use-submit.ts'
import type { Session } from '../session/session.ts'
import { tokenTexts as words } from './texts.ts'
import { TokenSecret } from './token-secret.tsx'

const GRACE_PERIODS = Object.entries(words.gracePeriods).map(([seconds, label]) => ({
  seconds: Number(seconds),
  label,
}))
/** A day, the default of the service. */
const GRACE_SECONDS_DEFAULT = 86_400

interface RotateTokenProps {
  session: Session
  token: Token
  onRotated(): void
  onClose(): void
}

/** Gives a token a new secret and shows it once. The old secret stays valid for a grace period. */
export function RotateToken({ session, token, onRotated, onClose }: RotateTokenProps) {
  const [graceSeconds, setGraceSeconds] = useState(GRACE_SECONDS_DEFAULT)
  const [secret, setSecret] = useState<string>()
  const submission = useSubmit([])
  const isOwn = token.id === session.token.id
  const rotate = () =>
    submission.submit(async () => {
      const rotated = await session.client.rotateToken(token.id, { graceSeconds })
      if (isOwn) session.renew(rotated.token)
      setSecret(rotated.token)
      onRotated()
    })
  return (
    <Dialog
      title={secret === undefined ? words.rotateTitle : words.secretTitle}
      isLocked={submission.isSubmitting || secret !== undefined}
      onClose={onClose}
    >
      {secret === undefined ? (
        <Form
          submission={submission}
          label={words.rotate}
          busyLabel={words.rotating}
          isLocked
          onSubmit={() => void rotate()}
          onClose={onClose}
        >
          <p class="long" dir="auto">
            {words.rotateLead(token.label || words.noLabel)}
          </p>
          {isOwn && <p>{words.rotateOwn}</p>}
          <fieldset class="field" aria-describedby="grace-period-hint">
            <legend>{words.gracePeriod}</legend>
            {GRACE_PERIODS.map(({ seconds, label }) => (
              <div key={seconds} class="choice">
                <input
                  id={`grace-seconds-${seconds}`}
                  type="radio"
                  name="grace-period"
                  checked={seconds === graceSeconds}
                  data-first={seconds === GRACE_SECONDS_DEFAULT ? '' : undefined}
                  onChange={() => setGraceSeconds(seconds)}
                />
                <label for={`grace-seconds-${seconds}`}>{label}</label>
              </div>
            ))}
            <span id="grace-period-hint" class="hint">
              {words.gracePeriodHint}
            </span>
          </fieldset>
        </Form>
      ) : (
        <TokenSecret secret={secret} onClose={onClose} />
      )}
    </Dialog>
  )
}
