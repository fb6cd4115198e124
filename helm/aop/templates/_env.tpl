{{/* dict name secret key optional: a variable from a secret */}}
{{- define "aop.fromSecret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ .key }}
      {{- if .optional }}
      optional: true
      {{- end }}
{{- end -}}

{{/* What all processes are configured with. */}}
{{- define "aop.env" -}}
{{- $v := .Values -}}
{{- $s := $v.settings -}}
{{- if $v.redis.bundled.enabled }}
- name: AOP_REDIS_URL
  value: redis://{{ include "aop.fullname" . }}-valkey:6379/0
{{- else if $v.redis.existingSecret.name }}
{{ include "aop.fromSecret" (dict "name" "AOP_REDIS_URL" "secret" $v.redis.existingSecret.name "key" $v.redis.existingSecret.key) }}
{{- else }}
- name: AOP_REDIS_URL
  value: {{ $v.redis.url | quote }}
{{- end }}
- name: AOP_REDIS_PREFIX
  value: {{ $v.redis.prefix | quote }}
{{- if $v.redis.caSecret.name }}
- name: AOP_REDIS_CA_FILE
  value: /etc/aop/redis-ca/{{ $v.redis.caSecret.key }}
{{- end }}
{{- with $v.redis.sentinelPasswordSecret }}
{{- if .name }}
{{ include "aop.fromSecret" (dict "name" "AOP_SENTINEL_PASSWORD" "secret" .name "key" .key) }}
{{- end }}
{{- end }}
- name: AOP_STORE
  value: {{ printf "s3://%s/%s" ($v.store.bundled.enabled | ternary "aop" $v.store.bucket) $v.store.prefix | quote }}
{{- if $v.store.bundled.enabled }}
- name: AOP_S3_ENDPOINT
  value: http://{{ include "aop.fullname" . }}-seaweedfs:8333
- name: AOP_S3_REGION
  value: us-east-1
- name: AOP_S3_PATH_STYLE
  value: "true"
{{- else }}
{{- with $v.store.endpoint }}
- name: AOP_S3_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with $v.store.region }}
- name: AOP_S3_REGION
  value: {{ . | quote }}
{{- end }}
- name: AOP_S3_PATH_STYLE
  value: {{ $v.store.pathStyle | quote }}
{{- with $v.store.encryption }}
- name: AOP_S3_ENCRYPTION
  value: {{ . | quote }}
{{- end }}
{{- with $v.store.kmsKey }}
- name: AOP_S3_KMS_KEY
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- with $v.store.existingSecret }}
{{- if .name }}
{{ include "aop.fromSecret" (dict "name" "AOP_S3_ACCESS_KEY" "secret" .name "key" .accessKey) }}
{{ include "aop.fromSecret" (dict "name" "AOP_S3_SECRET_KEY" "secret" .name "key" .secretKey) }}
{{- end }}
{{- end }}
{{- if $v.store.caSecret.name }}
- name: AOP_S3_CA_FILE
  value: /etc/aop/store-ca/{{ $v.store.caSecret.key }}
{{- end }}
{{- if include "aop.catalogName" . }}
- name: AOP_CATALOG_FOLDER
  value: /etc/aop/catalog
{{- end }}
{{- $numbers := dict
  "AOP_QUIET_MS" $s.quietMs "AOP_LONGEST_WAIT_MS" $s.longestWaitMs "AOP_PATIENCE_MS" $s.patienceMs
  "AOP_LEASE_MS" $s.leaseMs "AOP_MESSAGE_LOST_MS" $s.messageLostMs "AOP_KEEP_JOBS_S" $s.keepJobsSeconds
  "AOP_KEEP_IDEMPOTENCY_S" $s.keepIdempotencySeconds "AOP_MOST_ATTEMPTS" $s.mostAttempts
  "AOP_MAX_DOCUMENT_BYTES" $s.maxDocumentBytes "AOP_SOFT_TIME_LIMIT_S" $s.softTimeLimitSeconds
  "AOP_TIME_LIMIT_S" $s.timeLimitSeconds "AOP_VISIBILITY_TIMEOUT_S" $s.visibilityTimeoutSeconds
  "AOP_SOFT_SHUTDOWN_S" $s.softShutdownSeconds "AOP_BULK_WINDOW" $s.bulkWindow
  "AOP_RATE_PER_MINUTE" $s.ratePerMinute "AOP_RATE_BURST" $s.rateBurst "AOP_MAX_BODY_BYTES" $s.maxBodyBytes }}
{{- range $name, $value := $numbers }}
- name: {{ $name }}
  value: {{ $value | int64 | quote }}
{{- end }}
- name: AOP_REUSE
  value: {{ $s.reuse }}
- name: AOP_LOG_LEVEL
  value: {{ $s.logLevel }}
{{- with $s.otlpEndpoint }}
- name: AOP_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with $v.webhooks.s3Buckets }}
- name: AOP_S3_BUCKETS
  value: {{ join " " . | quote }}
{{- end }}
{{- with $v.webhooks.github }}
{{- if .existingSecret.name }}
- name: AOP_GITHUB_API
  value: {{ .api | quote }}
- name: AOP_GITHUB_REPOSITORIES
  value: {{ join " " .repositories | quote }}
- name: AOP_GITHUB_PATHS
  value: {{ join " " .paths | quote }}
{{- end }}
{{- end }}
- name: AOP_PROBE_FOLDER
  value: /run/aop
- name: AOP_METRICS_FOLDER
  value: /tmp/metrics
- name: AOP_METRICS_HOST
  value: 0.0.0.0
{{- end -}}

{{/* What the server alone must know. */}}
{{- define "aop.serverEnv" -}}
- name: AOP_HOST
  value: 0.0.0.0
- name: AOP_PORT
  value: "8080"
{{- with .Values.server.publicUrl }}
- name: AOP_PUBLIC_URL
  value: {{ . | quote }}
{{- end }}
{{- with .Values.webhooks.existingSecret }}
{{- if .name }}
{{ include "aop.fromSecret" (dict "name" "AOP_WEBHOOK_SECRETS" "secret" .name "key" .key) }}
{{- end }}
{{- end }}
{{- with .Values.webhooks.github.existingSecret }}
{{- if .name }}
{{ include "aop.fromSecret" (dict "name" "AOP_GITHUB_SECRETS" "secret" .name "key" .secretKey) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* dict root worker defaults. Contents are fetched by the parse workers, so they alone have the token for it. */}}
{{- define "aop.workerEnv" -}}
- name: AOP_METRICS_PORT
  value: "9101"
- name: AOP_CONCURRENCY
  value: {{ .worker.concurrency | default .defaults.concurrency | int64 | quote }}
- name: AOP_MAX_MEMORY_MB
  value: {{ .worker.maxMemoryMb | default .defaults.maxMemoryMb | int64 | quote }}
{{- with .root.Values.webhooks.github.existingSecret }}
{{- if and .name (eq $.worker.stage "parse") }}
{{ include "aop.fromSecret" (dict "name" "AOP_GITHUB_TOKEN" "secret" .name "key" .tokenKey "optional" true) }}
{{- end }}
{{- end }}
{{- end -}}
