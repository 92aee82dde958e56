import { h, type JSX } from 'preact'
import { callOf } from '../../api.ts'
import type { BundleStatus, Submission } from '../../answers.ts'
import { AddressLink, Panel } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { count, short } from '../../format.ts'
import { Timeline, type Step } from '../../timeline.ts'
import { useAnswer } from '../../use-answer.ts'

const REFETCH_MS = 10_000

const KINDS: Readonly<Record<BundleStatus['status'], string>> = {
  landed: 'done',
  failed: 'lost',
  pending: 'open',
  unknown: 'open'
}

/** A bundle on a line of time: its submission, the first sending and the landing of each member, and its last change. */
export function BundlePanel({
  id,
  members
}: {
  readonly id: string
  /** The submissions of its members that the page has read. */
  readonly members: readonly Submission[]
}): JSX.Element {
  const { answer, problem, refetch } = useAnswer<BundleStatus>(
    callOf('/v1/tx/bundle/{bundle_id}/status', { bundle_id: id }),
    REFETCH_MS
  )
  return h(
    Panel,
    {
      title: `Bundle ${short(id)}`,
      id: `bundle-${id}`,
      class: 'bundle',
      problem,
      isLoading: answer === null,
      onRetry: refetch,
      tools: h('strong', null, answer?.body.status ?? '')
    },
    answer === null
      ? null
      : [
          h(Facts, { key: 'facts', body: answer.body, from: originsOf(answer) }),
          h(Timeline, {
            key: 'line',
            kind: KINDS[answer.body.status],
            steps: stepsOf(answer.body, members)
          }),
          h(
            'ol',
            { key: 'members' },
            answer.body.signatures.map((signature) => {
              const member = members.find((each) => each.signature === signature)
              return h(
                'li',
                { key: signature },
                h(AddressLink, { view: 'tx', address: signature }),
                ' ',
                h('span', { class: 'quiet' }, member?.state ?? member?.status ?? '')
              )
            })
          )
        ]
  )
}

function Facts({
  body,
  from
}: {
  readonly body: BundleStatus
  readonly from: ReturnType<typeof originsOf>
}): JSX.Element {
  const { tip_lamports: tip, landed_slot: slot, confirmation_status: commitment, reason, err } = body
  return h(
    'p',
    null,
    h(Value, { from: from('tip_lamports', tip, { slot }) }, `tip ${count(tip)} lamports`),
    slot === null
      ? null
      : [' · ', h(Value, { key: 'slot', from: from('landed_slot', slot) }, `slot ${count(slot)}`)],
    commitment === null ? '' : ` · ${commitment}`,
    reason === null ? '' : ` · ${reason}`,
    err === null ? null : h('code', { class: 'down' }, ` ${JSON.stringify(err)}`)
  )
}

/** Returns the known times of a bundle, each with the time since its submission. */
export function stepsOf(body: BundleStatus, members: readonly Submission[]): Step[] {
  const submitted = timeOf(body.submitted_at)
  const after = (ms: number | null): string =>
    ms === null || submitted === null ? '' : `+${count(Math.max(0, ms - submitted))} ms`
  const step = (name: string, ms: number | null): Step => ({ name, ms, text: after(ms) })
  const sent = members.flatMap(({ first_sent_at: at }) => timeOf(at) ?? [])
  const landed = members.flatMap(({ first_sent_at: at, landed_ms: ms }) => {
    const first = timeOf(at)
    return first === null || ms === null ? [] : [first + ms]
  })
  return [
    { name: 'submitted', ms: submitted, text: body.submitted_at ?? '' },
    step('sent', sent.length === 0 ? null : Math.min(...sent)),
    step('landed', landed.length === 0 ? null : Math.max(...landed)),
    step(
      body.status === 'landed' ? (body.confirmation_status ?? 'landed') : body.status,
      timeOf(body.updated_at)
    )
  ]
}

const timeOf = (text: string | null): number | null => (text === null ? null : Date.parse(text))
