import t from 'tap'
import { z } from 'zod'
import { JsonSchemas } from '../../src/kernel/http/json-schemas.ts'
import { withNullFields, withoutNullFields } from '../../src/kernel/http/null-fields.ts'
import { transactionClient, transferText } from '../transactions/transaction-client.ts'

const SCHEMA = z.object({
  required: z.string(),
  optional: z.enum(['a']).optional().describe('One'),
  withDefault: z.boolean().default(true),
  nullable: z.string().nullable().optional()
})

t.test(
  'an optional field that is null is absent, a required one and one with a meaning of null are not',
  async (t) => {
    const read = withoutNullFields(SCHEMA)
    t.strictSame(read({ required: null, optional: null, withDefault: null, nullable: null, unknown: null }), {
      required: null,
      nullable: null,
      unknown: null
    })
    const whole = { required: 'x', optional: 'a', withDefault: false, nullable: 'y' }
    t.equal(read(whole), whole)
    for (const other of [null, [], 'text', undefined]) t.equal(read(other), other)
  }
)

t.test('the document shows which fields may be null', async (t) => {
  const shown = withNullFields(new JsonSchemas().ofInput(SCHEMA.strict()), SCHEMA)
  t.match(shown, {
    required: ['required'],
    properties: {
      required: { type: 'string' },
      optional: { description: 'One', anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
      withDefault: { default: true, anyOf: [{ type: 'boolean' }, { type: 'null' }] }
    }
  })
})

t.test('a transaction with every optional field null is sent as one without them', async (t) => {
  const app = await transactionClient(t)
  const sent = await app.post({
    tx: transferText(1n),
    via: null,
    skip_preflight: null,
    revert_protection: null
  })
  t.equal(sent.status, 200)
  t.match(app.parts.begun, [{ route: 'node', revertProtection: false }])
  t.equal(app.parts.simulated.length, 0)
  const refused = await app.post({ tx: null })
  t.match(refused, { status: 400, body: { code: 'invalid_parameter', detail: /^tx / } })
})
