/* global SwaggerUIBundle */

// Shows the document of the service that served this page, and sends requests there and nowhere else.
const place = document.querySelector('#reference')
const baseUrl = location.origin + document.body.dataset.basePath

followColorScheme()
showReference().catch((error) => {
  const notice = document.createElement('p')
  notice.className = 'notice'
  notice.setAttribute('role', 'alert')
  notice.textContent = `The reference could not be loaded (${error.message}). Reload the page to try again.`
  place.replaceChildren(notice)
})

async function showReference() {
  const response = await fetch(`${baseUrl}/openapi.json`)
  if (!response.ok) throw new Error(`openapi.json was answered with ${response.status}`)
  const spec = await response.json()
  SwaggerUIBundle({
    domNode: place,
    // The document may name another address of the service, which this page could not reach for its policy.
    spec: {
      ...spec,
      info: { ...spec.info, description: fold(spec.info.description) },
      servers: [{ url: baseUrl }],
    },
    plugins: [showExactNumbers],
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // Nothing is kept: the token lives in this page until it is left.
    persistAuthorization: false,
    // Swagger UI would else have a service of its makers judge the document.
    validatorUrl: null,
  })
}

/** The description with its table of error codes folded away: it would push the operations off the screen. */
function fold(description) {
  return description.replace(
    /(?:^\|.*$\n?)+/m,
    (table) => `<details><summary>Every error code</summary>\n\n${table}\n\n</details>`,
  )
}

/** Swagger UI lays an answer out through `JSON.parse`, which rounds ids beyond 2^53: this does not. */
function showExactNumbers() {
  return {
    wrapComponents: {
      responseBody: (ResponseBody, { React }) =>
        function ExactResponseBody(props) {
          const { content, contentType, getComponent } = props
          const isJson = typeof content === 'string' && /json/i.test(contentType)
          if (!isJson) return React.createElement(ResponseBody, props)
          return React.createElement(
            'div',
            null,
            React.createElement('h5', null, 'Response body'),
            React.createElement(
              getComponent('HighlightCode', true),
              { language: 'json', downloadable: true, canCopy: true, fileName: 'response.json' },
              layOut(content),
            ),
          )
        },
    },
  }
}

/** JSON with line breaks and indents, and every number in the very digits in which it arrived. */
function layOut(json) {
  // A browser that cannot tell the digits of a number shows the answer as it arrived.
  if (typeof JSON.rawJSON !== 'function') return json
  try {
    const value = JSON.parse(json, (_name, member, { source }) =>
      typeof member === 'number' ? JSON.rawJSON(source) : member,
    )
    return JSON.stringify(value, null, 2)
  } catch {
    return json
  }
}

/** Swagger UI has a dark look, behind a class. */
function followColorScheme() {
  const prefersDark = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches)
  prefersDark.addEventListener('change', apply)
  apply()
}
