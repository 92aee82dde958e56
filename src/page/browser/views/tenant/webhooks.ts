import { h, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callOf } from '../../api.ts'
import type { Attempt, CreatedWebhook, List, TestOutcome, Webhook, Webhooks } from '../../answers.ts'
import { Age, CopyButton, Facts, Panel, ProblemNote, Table } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { count } from '../../format.ts'
import { useStream } from '../../live.ts'
import { useAction } from '../../use-action.ts'
import { useAnswer } from '../../use-answer.ts'
import { valueColumns } from '../../value-column.ts'

const REFETCH_MS = 5_000
const ATTEMPTS_MAX = 50

/** The webhooks of the tenant: create, test, enable and delete them, and read their deliveries. */
export function WebhooksSection(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Webhooks>(callOf('/v1/webhooks'), REFETCH_MS)
  useStream(['webhooks'], null, refetch)
  const webhooks = answer?.body.data ?? []
  return h(
    'div',
    { class: 'stack' },
    h(
      Panel,
      {
        title: 'Webhooks',
        id: 'webhooks-title',
        problem,
        isLoading: answer === null,
        onRetry: refetch,
        tools:
          answer === null
            ? null
            : h('span', { class: 'note' }, `${count(webhooks.length)} of ${answer.body.limits.max}`)
      },
      webhooks.length === 0 ? h('p', { class: 'note' }, 'No webhook yet.') : null
    ),
    answer === null
      ? null
      : webhooks.map((webhook) =>
          h(WebhookPanel, { key: webhook.id, webhook, from: originsOf(answer), onChange: refetch })
        ),
    h(CreatePanel, { onDone: refetch })
  )
}

interface WebhookPanelProps {
  readonly webhook: Webhook
  readonly from: ReturnType<typeof originsOf>
  readonly onChange: () => void
}

function WebhookPanel({ webhook, from, onChange }: WebhookPanelProps): JSX.Element {
  const { id } = webhook
  const [isOpen, setIsOpen] = useState(false)
  const test = useAction<TestOutcome>(onChange)
  const change = useAction<unknown>(onChange)
  const value = (field: keyof Webhook, text: string): JSX.Element =>
    h(Value, { from: from(`data[].${field}`, webhook[field]) }, text)
  return h(
    Panel,
    {
      title: webhook.url,
      id: `webhook-${id}`,
      tools: h(
        'span',
        { class: webhook.active ? 'up' : 'down' },
        webhook.active ? 'active' : `deactivated: ${webhook.disabled_reason ?? ''}`
      )
    },
    h(Facts, {
      rows: [
        ['Channels', webhook.channels.join(', ')],
        [
          'Last success',
          webhook.last_success_at === null ? 'never' : h(Age, { ms: Date.parse(webhook.last_success_at) })
        ],
        ['Last status', value('last_status', `${webhook.last_status ?? '–'} ${webhook.last_error ?? ''}`)],
        ['Failures in a row', value('consecutive_failures', count(webhook.consecutive_failures))],
        ['Waiting', value('buffered', count(webhook.buffered))],
        ['Dropped', value('dropped_total', count(webhook.dropped_total))]
      ]
    }),
    h(
      'p',
      { class: 'buttons' },
      h(
        'button',
        {
          type: 'button',
          disabled: test.isRunning,
          onClick: () => test.run(callOf('/v1/webhooks/{id}/test', { id }, {}, 'POST'))
        },
        test.isRunning ? 'Testing …' : 'Test'
      ),
      h(
        'button',
        {
          type: 'button',
          disabled: webhook.active || change.isRunning,
          onClick: () => change.run(callOf('/v1/webhooks/{id}/enable', { id }, {}, 'POST'))
        },
        'Enable'
      ),
      h(
        'button',
        { type: 'button', 'aria-expanded': isOpen, onClick: () => setIsOpen(!isOpen) },
        'Deliveries'
      ),
      h(
        'button',
        {
          type: 'button',
          disabled: change.isRunning,
          onClick: () =>
            confirm(`Delete the webhook to ${webhook.url}?`) &&
            change.run(callOf('/v1/webhooks/{id}', { id }, {}, 'DELETE'))
        },
        'Delete'
      )
    ),
    test.done === null
      ? null
      : h(
          'p',
          { class: 'note', role: 'status' },
          test.done.delivered ? 'The receiver answered' : 'The test event was not delivered:',
          ` ${test.done.status_code ?? ''} ${test.done.error ?? ''} in ${test.done.duration_ms} ms`
        ),
    [test, change].map(({ problem }, at) => (problem === null ? null : h(ProblemNote, { key: at, problem }))),
    isOpen ? h(AttemptList, { id }) : null
  )
}

function AttemptList({ id }: { readonly id: Webhook['id'] }): JSX.Element {
  const { answer, problem, refetch } = useAnswer<List<Attempt>>(
    callOf('/v1/webhooks/{id}/deliveries', { id }, { limit: ATTEMPTS_MAX }),
    REFETCH_MS
  )
  if (answer === null)
    return problem === null
      ? h('p', { class: 'note' }, 'Loading …')
      : h(ProblemNote, { problem, onRetry: refetch })
  const from = originsOf(answer)
  const ofAttempt = valueColumns<Attempt>(answer)
  return h(Table<Attempt>, {
    name: 'Attempts, newest first',
    columns: [
      { name: 'Started', cell: ({ started_at: at }) => h(Age, { ms: Date.parse(at) }) },
      {
        name: 'Status',
        cell: (attempt) =>
          h(
            Value,
            { from: from('data[].status_code', attempt.status_code) },
            `${attempt.status_code ?? '–'} ${attempt.error ?? ''}`
          )
      },
      ofAttempt('Attempt', 'attempt', { text: (attempt) => (attempt === 0 ? 'test' : count(attempt)) }),
      ofAttempt('Events', 'events'),
      ofAttempt('Took', 'duration_ms', { text: (ms) => `${count(ms)} ms` }),
      { name: 'Batch', isWide: true, cell: ({ batch_id: batch }) => h('code', null, batch) }
    ],
    rows: answer.body.data,
    keyOf: ({ batch_id: batch, attempt, started_at: at }) => `${batch} ${attempt} ${at}`,
    empty: 'No attempt in the last seven days.'
  })
}

function CreatePanel({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const [url, setUrl] = useState('')
  const [channels, setChannels] = useState('launches')
  const create = useAction<CreatedWebhook>(onDone)
  const submit = (event: Event): void => {
    event.preventDefault()
    const names = channels.split(/[\s,]+/).filter((name) => name !== '')
    create.run(callOf('/v1/webhooks', {}, {}, 'POST', { url: url.trim(), channels: names }))
  }
  const input = (set: (text: string) => void) => (event: Event) =>
    set((event.currentTarget as HTMLInputElement).value)
  return h(
    Panel,
    { title: 'New webhook', id: 'new-webhook' },
    h(
      'form',
      { class: 'fields', onSubmit: submit },
      h('label', { htmlFor: 'hook-url' }, 'URL'),
      h('input', {
        id: 'hook-url',
        class: 'mono',
        value: url,
        placeholder: 'https://…',
        spellcheck: false,
        onInput: input(setUrl)
      }),
      h('label', { htmlFor: 'hook-channels' }, 'Channels'),
      h('input', {
        id: 'hook-channels',
        class: 'mono',
        value: channels,
        spellcheck: false,
        onInput: input(setChannels)
      }),
      h(
        'p',
        { class: 'buttons' },
        h(
          'button',
          { type: 'submit', class: 'primary', disabled: create.isRunning || url.trim() === '' },
          'Create'
        )
      )
    ),
    create.problem === null ? null : h(ProblemNote, { problem: create.problem }),
    create.done === null
      ? null
      : h(
          'p',
          { class: 'problem', role: 'status' },
          'The secret is shown only now: ',
          h('code', null, create.done.secret),
          h(CopyButton, { text: create.done.secret, name: 'Copy the secret' })
        )
  )
}
