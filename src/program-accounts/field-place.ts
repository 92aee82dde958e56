/** Steps from a value to a field inside it: indexes and names. */
export type FieldPlace = readonly (string | number)[]

/** Returns a place as JavaScript writes it after the value: `[0].memcmp.offset`. */
export const placeText = (place: FieldPlace): string =>
  place.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')
