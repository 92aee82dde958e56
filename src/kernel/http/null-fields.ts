import type { z } from 'zod'
import type { JsonSchema } from './json-schemas.ts'

/** Returns the fields of a body that may be left out and for which null has no meaning: null then counts as left out. */
function absentAsNull(schema: z.ZodObject): ReadonlySet<string> {
  const fields = Object.entries<z.ZodType>(schema.shape)
  return new Set(
    fields
      .filter(([, field]) => field.safeParse(undefined).success && !field.safeParse(null).success)
      .map(([name]) => name)
  )
}

/** Returns a function that removes the optional fields of a body that are null. Any other value is returned unchanged. */
export function withoutNullFields(schema: z.ZodObject): (body: unknown) => unknown {
  const names = absentAsNull(schema)
  return (body) => {
    if (names.size === 0 || typeof body !== 'object' || body === null || Array.isArray(body)) return body
    const fields = Object.entries(body)
    if (!fields.some(([name, value]) => value === null && names.has(name))) return body
    return Object.fromEntries(fields.filter(([name, value]) => value !== null || !names.has(name)))
  }
}

/** Returns the JSON schema of a body, which shows that its optional fields may be null. */
export function withNullFields(json: JsonSchema, schema: z.ZodObject): JsonSchema {
  const names = absentAsNull(schema)
  const properties = json['properties'] as Readonly<Record<string, JsonSchema>> | undefined
  if (names.size === 0 || properties === undefined) return json
  const shown = Object.entries(properties).map(([name, property]) => {
    if (!names.has(name)) return [name, property]
    const { description, default: fallback, ...type } = property
    const terms = {
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback })
    }
    return [name, { ...terms, anyOf: [type, { type: 'null' }] }]
  })
  return { ...json, properties: Object.fromEntries(shown) as Record<string, JsonSchema> }
}
